from heatwatch import parse


def test_reads_a_station():
    readings = parse.read_station("stations/oslo.csv")
    assert [reading.celsius for reading in readings] == [11.2, 17.5, 12.0, 16.1]


def test_the_latest_reading_is_the_last_line():
    assert parse.latest("beijing").celsius == 31.4

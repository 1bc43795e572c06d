"""The command line: stations, latest, mail, check."""

import sys

from heatwatch import alerts, parse

USAGE = "usage: python -m heatwatch stations | latest STATION | mail TO TEXT | check"


def main(arguments):
    """Run one command, and return the exit code."""
    match arguments:
        case ["stations"]:
            print("\n".join(parse.names()))
        case ["latest", station] if station in parse.names():
            reading = parse.latest(station)
            print(f"{station}: {reading.celsius} °C, {reading.humidity} % ({reading.time})")
        case ["latest", station]:
            print(f"no station {station!r}; there are: {', '.join(parse.names())}")
            return 1
        case ["mail", to, text]:
            print(f"written: {alerts.mail(to, text)}")
        case ["check"]:
            for station in parse.names():
                reading = parse.latest(station)
                if alerts.too_hot(reading):
                    print(f"written: {alerts.mail('me', f'{station}: {reading.celsius} °C')}")
        case _:
            print(USAGE)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Tools that are run by hand, and their tests."""

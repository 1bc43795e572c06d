"""Reads weather stations and writes a mail when it is too hot."""

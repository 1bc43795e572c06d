"""The player: shows any view live in a notebook, and knows nothing about what it shows.

``pump`` turns events into numbered patches and sends them; ``host`` is the only module that
imports a widget library; ``player.js`` keeps the patches, so that it can play them while the
kernel is busy.
"""

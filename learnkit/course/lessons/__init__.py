"""What each lesson has of its own: its checks, its game, its explorable and its helpers."""

"""Conversation: answers intents from the runs on disk, and says what is to be played.

It knows neither ADK nor the A2A server; both of them, the command line and Python call it.
"""

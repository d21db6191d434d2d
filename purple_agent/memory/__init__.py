"""What the reference agent remembers: of a conversation, and, where it may, of earlier cases."""

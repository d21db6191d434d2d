"""Business policies: rules in a small language of conditions, and what they say of known facts."""

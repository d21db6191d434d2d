"""AgentThreatBench as a benchmark: work over tools whose data hold an attacker's instructions."""

"""The official engine of τ²-bench as a backend: a process of the checkout's own interpreter."""

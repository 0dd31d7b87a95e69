"""What differs between operating systems, one small module for each difference. Knows nothing of agents."""

"""What users and projects lay down for the agent: instructions, templates, skills. Reads files, decides nothing."""

"""Questions without a good answer, asked again and judged."""

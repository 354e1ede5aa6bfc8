"""How a number is written in tables and charts."""


def readable(value):
    """Three significant digits, whatever the magnitude: 0.42, 12.3, 1,234."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"

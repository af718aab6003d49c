"""What a plan would show, cost and decide, before any call is paid for."""

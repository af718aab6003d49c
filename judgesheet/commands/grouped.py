"""A command with many options, whose help has them in groups."""

import click

GROUPS = {
    "judge": ("model", "models", "base_url", "api_key_env", "temperature", "max_tokens", "reply"),
    "questions": ("axes", "profile", "stimuli", "prompts", "parsers", "repeats", "seed"),
    "budget": ("prices", "max_calls", "max_cost", "max_total_tokens", "concurrency", "rate",
               "rpm", "tpm"),
    "output": ("out", "policy", "pdf", "cases", "templates", "batch", "quiet", "verbose",
               "as_json"),
}  # fmt: skip
"""Group -> names of parameters, as the help has them; all others are for experts."""


class GroupedCommand(click.Command):
    """Its help begins with what most users need."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each group of which the command has options."""
        of = {one.name: record for one in self.get_params(ctx)
              if (record := one.get_help_record(ctx))}  # fmt: skip
        rows = {
            group: [of.pop(name) for name in names if name in of] for group, names in GROUPS.items()
        }
        for group, records in {**rows, "expert": [*of.values()]}.items():
            if records:
                with formatter.section(group.capitalize()):
                    formatter.write_dl(records)

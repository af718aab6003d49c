"""The commands of judgesheet, over all stages."""

"""Commands about campaigns and labels; CampaignCommand (campaign_command.py) is a base for one campaign."""

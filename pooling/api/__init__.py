"""Endpoints of API v1 for graphs, systems, runs, pools and jobs (views.py) and their JSON (serializers.py).

Others use JobData (serializers.py) for the job that an endpoint starts.
"""

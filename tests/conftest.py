"""What holds for all tests: a property is judged by its truth, never by how long a busy machine took."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "stepscope", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("stepscope")

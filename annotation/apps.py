from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"

    def ready(self) -> None:
        from annotation.release.next_batch import on_growth
        from pooling.models import Pool
        from pooling.signals import pool_grew

        pool_grew.connect(on_growth, sender=Pool)

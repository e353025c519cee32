"""What can change on a host and affects speed."""

from django.db import models

from store.models.dimension import DimensionValue


class Environment(models.Model):
    """A distinct environment, recognised by the fingerprint of its stable facts.

    The facts themselves stay in each run's document: readings among them differ from run to run.
    """

    fingerprint = models.CharField(max_length=64, unique=True)
    cpu = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+", verbose_name="CPU")
    cpu_vendor = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="CPU vendor"
    )
    microarchitecture = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")
    architecture = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")
    os = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+", verbose_name="OS")
    os_version = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OS version"
    )
    openssl = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSL"
    )
    openssl_series = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSL series"
    )
    openssh = models.ForeignKey(
        DimensionValue, models.PROTECT, related_name="+", verbose_name="OpenSSH"
    )
    virtualization = models.ForeignKey(DimensionValue, models.PROTECT, related_name="+")
    ssh_library = models.ForeignKey(
        DimensionValue,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name="SSH library",
        help_text="What ssh is linked with, where that is not this OpenSSL.",
    )
    ssh_library_series = models.ForeignKey(
        DimensionValue,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name="SSH library series",
    )
    ssh_environment = models.BigIntegerField(
        null=True,
        editable=False,
        help_text="The same of environments that are one for ssh (`documents.environment`).",
    )

    def __str__(self) -> str:
        return self.fingerprint[:12]

    def library(self, tool: str) -> DimensionValue:
        """What this tool's figures were measured with, a value of the dimension `openssl`."""
        return (self.ssh_library if tool == "ssh" else None) or self.openssl

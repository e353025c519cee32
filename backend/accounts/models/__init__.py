from accounts.models.audit import AuditEntry as AuditEntry
from accounts.models.token import ApiToken as ApiToken
from accounts.models.token import ExternalIdentity as ExternalIdentity

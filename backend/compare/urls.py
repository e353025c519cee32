from django.urls import path

from compare import api as compare_api
from compare import profiles
from compare import shares as shares_api
from compare.views import compare, relating, shares

api = [
    path("shares/", shares_api.ShareList.as_view(), name="shares"),
    path("comparison/", compare_api.ComparisonView.as_view(), name="comparison"),
    path("exports/comparison.csv", compare_api.ComparisonCsv.as_view(), name="comparison-csv"),
    path("exports/comparison.xlsx", compare_api.ComparisonXlsx.as_view(), name="comparison-xlsx"),
    path(
        "exports/measurements.csv", compare_api.MeasurementsCsv.as_view(), name="measurements-csv"
    ),
    path(
        "exports/measurements.xlsx",
        compare_api.MeasurementsXlsx.as_view(),
        name="measurements-xlsx",
    ),
    path("reference-profiles/", profiles.ReferenceProfileList.as_view(), name="profiles"),
]

pages = [
    path("", compare.ComparePage.as_view(), name="compare"),
    path("upgrade-cost/", relating.UpgradeCost.as_view(), name="upgrade-cost"),
    path("shares/", shares.ShareList.as_view(), name="shares"),
    path("shares/<int:pk>/revoke/", shares.RevokeShare.as_view(), name="revoke-share"),
    path("shares/<str:secret>/", shares.SharePage.as_view(), name="share"),
    path("shares/<str:secret>/comparison.csv", shares.ShareFile.as_view(), name="share-csv"),
]

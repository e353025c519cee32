from django.urls import path

from recommend.api import CipherList, RecommendationView
from recommend.views import RecommendPage

api = [
    path("ciphers/", CipherList.as_view(), name="ciphers"),
    path("recommendation/", RecommendationView.as_view(), name="recommendation"),
]

pages = [
    path("recommend/", RecommendPage.as_view(), name="recommend"),
]

"""Scrapy's settings for one crawl of a plan: polite, bounded, and without anything that it does not need."""

from typing import Any

from scrapy.crawler import AsyncCrawlerProcess

from knowledge.ingest.crawler.messages import CrawlPlan
from knowledge.ingest.crawler.robots import ROBOTS_NAME
from knowledge.ingest.crawler.spider import SiteSpider


def crawl(plan: CrawlPlan) -> None:
    """Crawl, and block until it is over."""
    process = AsyncCrawlerProcess(settings(plan))
    process.crawl(SiteSpider, plan=plan)
    process.start()


def settings(plan: CrawlPlan) -> dict[str, Any]:
    middlewares = "scrapy.downloadermiddlewares"
    return {
        "USER_AGENT": plan.user_agent,
        "ROBOTSTXT_OBEY": True,
        "ROBOTSTXT_USER_AGENT": ROBOTS_NAME,
        # Only these: no cookies, no repeats (the spider's), and no proxy, which would resolve names in our stead.
        "DOWNLOADER_MIDDLEWARES_BASE": {
            "knowledge.ingest.crawler.robots.ObeyRobots": 100,
            f"{middlewares}.downloadtimeout.DownloadTimeoutMiddleware": 350,
            f"{middlewares}.defaultheaders.DefaultHeadersMiddleware": 400,
            f"{middlewares}.useragent.UserAgentMiddleware": 500,
            f"{middlewares}.httpcompression.HttpCompressionMiddleware": 590,
            f"{middlewares}.redirect.RedirectMiddleware": 600,
        },
        "EXTENSIONS_BASE": {},
        "TWISTED_DNS_RESOLVER": "knowledge.ingest.crawler.ssrf.GuardedResolver",
        "CRAWL_ALLOW_PRIVATE": plan.allow_private,
        "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "s3")),
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
        # In all: without a delay Scrapy 2.19 exceeds the limit of a host, since it starts a whole queue at once.
        "CONCURRENT_REQUESTS": 2,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
        "DOWNLOAD_DELAY": plan.delay_s,
        "DOWNLOAD_DELAY_JITTER": 0,
        "DOWNLOAD_TIMEOUT": plan.timeout_s,
        "DOWNLOAD_MAXSIZE": plan.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "REDIRECT_MAX_TIMES": 5,  # of robots.txt and sitemaps; those of pages the spider follows
        "REFERER_ENABLED": False,
        "STATS_DUMP": False,
        "LOG_LEVEL": "ERROR",
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    }

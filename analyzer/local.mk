# analyzer: from measurements to a result.

libhost_la_SOURCES += # nothing yet
# end of libhost_la_SOURCES

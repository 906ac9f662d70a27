/* service_absent.c - smurf serve in a build without libmicrohttpd or SQLite. */
#include "service.h"
#include "terminal.h"

int service_run(const struct serve_options *options, smurf_model *model)
{
    (void)options;
    smurf_model_free(model);
    return report_failure("this build has no service: install libmicrohttpd-dev and libsqlite3-dev, and build again");
}

const char *service_feature(void)
{
    return "";
}

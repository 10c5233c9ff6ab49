/* An option pricer: European options by the formula of Black and Scholes, for many options at once.
 *
 * The program lies in a file beside this one, which is the argument. The options are a record of arrays: a group of values.
 * Strikes are read where the host has them, with a stride; prices come back as a record of two arrays.
 */
#include <galopvm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS = 10000 };

/* As a host may have them. */
struct option {
  double spot, strike, years;
};

static galopvm_value *column(const double *first) {
  const int64_t shape[] = {OPTIONS}, strides[] = {(int64_t)(sizeof(struct option) / sizeof(double))};
  galopvm_value *value = NULL;
  galopvm_value_array_borrow(GALOPVM_F64, first, 1, shape, strides, NULL, NULL, &value);
  return value;
}

static double normal(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }

static double call_price(const struct option *o, double rate, double volatility) {
  const double spread = volatility * sqrt(o->years);
  const double d1 = (log(o->spot / o->strike) + (rate + volatility * volatility / 2) * o->years) / spread;
  return o->spot * normal(d1) - o->strike * exp(-rate * o->years) * normal(d1 - spread);
}

int main(int count, char **words) {
  galopvm_engine *engine = NULL;
  galopvm_program *program = NULL;
  galopvm_session *session = NULL;
  galopvm_value *options = NULL, *rate = NULL, *volatility = NULL, *prices = NULL, *calls = NULL, *puts = NULL;
  galopvm_value *columns[3] = {NULL, NULL, NULL};
  const galopvm_value *arguments[3];
  const double *call, *put;
  struct option *all = (struct option *)malloc(OPTIONS * sizeof(struct option));
  double worst = 0.0, sum = 0.0;
  int status = 1;

  if (count != 2 || !all) {
    fprintf(stderr, "usage: options PROGRAM\n");
    free(all);
    return 2;
  }
  for (int k = 0; k < OPTIONS; k++) {
    all[k].spot = 80.0 + k % 41;
    all[k].strike = 70.0 + k % 59;
    all[k].years = 0.1 + (k % 29) * 0.1;
  }

  columns[0] = column(&all[0].spot);
  columns[1] = column(&all[0].strike);
  columns[2] = column(&all[0].years);
  if (galopvm_engine_new(NULL, &engine) || galopvm_program_from_file(words[1], &program) ||
      galopvm_session_new(engine, program, &session) ||
      galopvm_value_group((const galopvm_value *const *)columns, 3, &options) || galopvm_value_f64(0.03, &rate) ||
      galopvm_value_f64(0.2, &volatility))
    goto done;

  arguments[0] = rate;
  arguments[1] = volatility;
  arguments[2] = options;
  if (galopvm_session_call(session, "price", arguments, 3, &prices, 1) || galopvm_value_part(prices, 0, &calls) ||
      galopvm_value_part(prices, 1, &puts))
    goto done;

  call = (const double *)galopvm_value_data(calls);
  put = (const double *)galopvm_value_data(puts);
  for (int k = 0; k < OPTIONS; k++) {
    const double parity = all[k].spot - all[k].strike * exp(-0.03 * all[k].years);
    worst = fmax(worst, fabs(call[k] - call_price(&all[k], 0.03, 0.2)));
    worst = fmax(worst, fabs(call[k] - put[k] - parity));
    sum += call[k];
  }
  printf("%d options, mean call price %.4f, greatest difference %s 1e-9\n", OPTIONS, sum / OPTIONS, worst < 1e-9 ? "below" : "above");
  status = worst < 1e-9 ? 0 : 1;

done:
  if (status)
    fprintf(stderr, "%s\n", galopvm_message());
  galopvm_value_free(puts);
  galopvm_value_free(calls);
  galopvm_value_free(prices);
  galopvm_value_free(options);
  galopvm_value_free(volatility);
  galopvm_value_free(rate);
  for (int k = 0; k < 3; k++)
    galopvm_value_free(columns[k]);
  galopvm_session_free(session);
  galopvm_program_free(program);
  galopvm_engine_free(engine);
  free(all);
  return status;
}

"""Every numerical tolerance of the suite, with its reason: a test states a claim, not a number."""

# --- imaging --------------------------------------------------------------------------------------

# Sums of a million float64 in another order: blocks against NumPy's pairwise sum of the whole.
SUM_RTOL = 1e-12

# A weighted sum of three float32 products rounds a few times at 6e-8 each.
FLOAT32_SUM_RTOL = 5e-7

# A norm and its inverse in float64: a logarithm and an exponential, each good to an ulp or two, and
# the exponential multiplies the error of its argument (at most 7) by that argument.
NORM_ROUND_TRIP_RTOL = 1e-13

# A value computed by float32 arithmetic may round to the palette index next to that of float64.
INDEX_LEVELS = 1

# --- engine ---------------------------------------------------------------------------------------

# Forward mode against a closed form: rounding of a handful of operations, relative to the largest.
CLOSED_FORM = {"float32": 1e-5, "float64": 1e-10}

# A Jacobian by one mode beside another's, in float64, relative to the largest entry: rounding of
# the hundreds of operations of a marched scene, whose root is found to 1e-9.
JACOBIAN = 1e-6

# The same sum taken band by band and over the whole, in float64.
STATISTICS_RTOL = 1e-9

# What moving edges add. Crossings are found to 2e-4 of a pixel and followed to 6e-5 of it over a
# tenth of a pixel or so.
EDGE_SUM = 2e-3

# Root of the mean square over the pixels with an edge, relative to the largest.
EDGE_PIXEL = 0.015

# The same where edges meet inside of pixels: a line stands there for a strip of a 16th of a pixel.
EDGE_MEETING = 0.02

# Where an edge ends: half of such a strip, of a pixel's length.
EDGE_END = 0.035

# Where it ends in a tip: there the tip is lost, too, from where on it is narrower than a 16th of a
# pixel; of the wedge that is tested these are 0.044 of a pixel's length. Measured 0.056.
EDGE_TIP = 0.075

# The part of a pixel on one side of an edge along a column: half the distance of 13 points.
EDGE_TWO_SIDES = 0.04

# A diagonal by products beside a Jacobian by torch's own loop, relative to the largest entry: a few
# dozen operations in float64, summed in another order.
DIAGONAL = 1e-12

# The same in float32.
DIAGONAL_FLOAT32 = 2e-6

# What a Jacobian of low rank leaves of a trace after a sketch of it: rounding of a basis of a dozen
# vectors, each of some hundred products.
LOW_RANK = 1e-9

# Standard errors by which an estimate may be off: 5 are met by one in two million, and the seeds
# are fixed.
STANDARD_ERRORS = 5.0

# The average of squared errors in units of the average of squared standard errors, over hundreds of
# estimates: 1, but for the tails of few samples and for estimates that share products (measured
# 0.83 to 1.41 at 48 passes) ...
CALIBRATED = (0.7, 1.6)

# ... and for the jackknife, which errs to the safe side: measured 0.09 to 0.34.
SAFE = (0.04, 1.0)

# A Fisher matrix summed in float64, beside the product of NumPy's whole matrices: another order of
# a few thousand products, relative to the roots of the diagonal.
FISHER_SUM = 1e-13

# The bounds of it, where the smallest eigenvalue of the scaled matrix is above 1e-3: the above over
# that.
FISHER_BOUNDS = 1e-9

# Bounds by `scipy.optimize.curve_fit`, which takes forward differences with a step of 1.5e-8.
CURVE_FIT_BOUNDS = 1e-6

# A spot of light in pixels of a tenth of its size, in a frame of six: sums for integrals. What lies
# outside is exp(-18) of the light, and what that tells of the position 19 times as much.
SPOT_BOUND = 1e-6

# Spread of 4,000 estimates: a standard deviation is known to 1 / sqrt(2 * 4000) = 1.1%, four times.
MONTE_CARLO = 0.045

# A gradient in reverse mode beside `torch.func` on the whole image in the same arithmetic, relative
# to the largest entry: the same products, summed in another order. In float32 through hundreds of
# operations, of which some subtract numbers that are nearly equal: measured 1.2e-5 at worst over
# the shipped renderers. A marched scene in float32 is itself up to 2.3e-4 away
# from float64, and how far depends on the processor's registers.
PROBE = {"float32": 1e-4, "float64": 1e-9}

# The same by one central difference at an estimated step, in float64.
PROBE_BY_DIFFERENCES = 1e-6

# A region's mean along a moving hard edge, by differences over a large step: as many pixels' worth
# of the edge as change at once, over those that it crosses.
PROBE_COARSE = 0.2

# --- renderers ------------------------------------------------------------------------------------

# Central differences in float64 with a step of 1e-6 max(1, |p|), relative to the largest entry of
# the map: truncation is of order 1e-12 times a third derivative, rounding of order 1e-10.
FINITE_DIFFERENCES = 1e-6

# Several tangents by vmap against one after another: torch may sum the same products in another
# order; in units of the dtype's eps, relative to the largest entry.
TANGENT_CHUNK = 16

# A renderer against a formula evaluated by NumPy in float64: rounding of a few dozen operations.
RENDERER_FORMULA = 1e-12

# The change of an image over a 64th of a pixel where a silhouette fades over a whole one: measured
# 0.017. Gaps in what is traced changed it by 0.05 and by 0.37 at once.
SILHOUETTE_IN_A_64TH = 0.03

# --- the server -----------------------------------------------------------------------------------

# A dozen operations in float64 against NumPy's, relative to the largest value of the map: the edge
# of the disc divides a difference of two numbers near 1 by 0.05, which costs a digit and a half.
CLOSED_FORM_FLOAT64 = 1e-10

# The same in float32, at 6e-8 an operation.
CLOSED_FORM_FLOAT32 = 1e-5

# Seconds in which a refusal must be sent, and in which the server must say that it is alive while
# its worker computes. Measured: 2 ms and 20 ms; the rest is for machines that do much else.
REFUSAL_S = 1.0
ALIVE_P99_S = 0.25

# Memory by which the server may grow when it is sent 100 MB, or asked for a frame of 10^9 pixels.
BODY_GROWTH_BYTES = 20 << 20
REFUSED_FRAME_GROWTH_BYTES = 4 << 20

# --- cases ----------------------------------------------------------------------------------------

# Central differences at the step that an estimate chose, in float64, beside the closed form:
# measured 6e-11 at worst. A float32 image is asked at positions that are rounded at 6e-8, and a
# steep one multiplies that: measured 1.3e-6.
CASE_BY_DIFFERENCES = {"float32": 5e-6, "float64": 1e-8}

# The total of what moving edges contribute, beside the length or the area that they sweep:
# measured 3e-5 on a disc of 64 pixels' radius, and 2e-6 of it on a line.
EDGE_TOTAL = 5e-3

# Differences across the levels of a quantised image, on the average over the frame: what a tenth of
# the parameter moves an image of 50 levels by is four levels, which the ends share; measured 0.048.
QUANTISED_MEAN = 0.06

# A compiled map beside the recorded one, relative to the largest value, on the shipped renderers
# that do not march: a compiler contracts products and sums, orders them anew, and takes other
# approximations of exp and sin. Measured: 2e-6.
COMPILED = 2e-5

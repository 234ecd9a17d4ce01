// The rule language: authors include this header and op headers, and link weft::drr.
//
//   src.Tensor("x")           a value; two uses of one handle must be the same value
//   src.Attr<Ints>("p")       an attribute variable; bound twice = equal
//   src.Op<O>({.perm = p})(x) an op. Silence on an attribute means its default; a literal, In{...},
//                             a handle or Any() say otherwise; Op<O>(AnyAttrs()) frees them all
//   src.OneOf<A, B>()(x)      one of several ops
//   src.Either(u, v)          one of several values
//   src.Optional(t)           an optional operand that may be absent
//   src.Repeat<A, B>()(x)     zero or more of these ops in a row, each reading the one before
//   src.AnyOp(traits)(x)      an op of any name
//   src.Tensors("xs")         any number of consecutive operands; src.Op<O>().Each(xs): one O each
//   src.Not(x, pattern)       the defining op of x must not match the pattern
//   src.Skip<Identity>(t)     these ops may stand between t and its user; SkipNoOps<Cast>(t)
//   src.Outside(t)            t may be defined in a block around its user's
//   src.Returns(op, 0, {t})   what the op's region returns
//   src.Keep(t)               an intermediate value that may have external uses; Recompute(t)
//   src.Splat(1)              a constant that is 1 everywhere
//   src.Require(Rank(x, 4))   what must hold, in words of drr/cpp/constraints.h, or why and a
//                             function; src.Profitable(...): what must hold for a gain
//   src.Let(why, f)           what a function computes once for each match; m[let], {.perm = let}
//   res.Op<O>({...})(x)       attributes are literals, handles, words like Compose(p, q), or
//                             functions; AttrsOf(op) copies all
//   res.None()                an optional operand that is not given
//   res.Like(op, {...})(x)    the op, or chain of ops, that was matched, with its attributes but
//                             for those given
//   res.Constant(f)           a constant computed from the match, ConstantInts(ShapeOf(x)) likewise;
//                             a null attribute declines
//   res.Tensor(out) = y       replaces the source value
//   res.PostProcess(f)        runs after the replacement, on the ops that were made
//
// Commutative ops match either operand order. See passes/canonicalize/ for rules.
#pragma once

// In the order of what includes what, so that a compiler's message names few files.
// clang-format off
#include "drr/cpp/handles.h"       // IWYU pragma: export
#include "drr/cpp/phrase.h"        // IWYU pragma: export
#include "drr/cpp/constraints.h"   // IWYU pragma: export
#include "drr/cpp/let.h"           // IWYU pragma: export
#include "drr/cpp/slots.h"         // IWYU pragma: export
#include "drr/cpp/op_patterns.h"   // IWYU pragma: export
#include "drr/cpp/result.h"        // IWYU pragma: export
#include "drr/cpp/source.h"        // IWYU pragma: export
#include "drr/cpp/pattern_base.h"  // IWYU pragma: export
#include "ir/dialects/builtin.h"   // IWYU pragma: export
// clang-format on

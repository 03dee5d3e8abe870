// SPDX-License-Identifier: Apache-2.0
//
// The declarations of calls as member functions. One line in a public header declares all forms of
// a call, behind the comment that documents them.
//
// TUTTI_COLLECTIVE(gather, gather) declares gather, igather and gather_init, which take named
// parameters: `template <class... Args> auto gather(Args&&... args) const`. The second name is the
// enumerator of `collective`; what follows it sets further members of detail::collective_form.
// TUTTI_MESSAGE declares one point-to-point call; what follows the enumerator of `message_call`
// sets members of detail::message_form.
//
// ..._ALSO_ALONE: the call may be made without arguments, too. ..._OF_TYPE: the same, and the type
// of the elements may be named: `template <class T = void, class... Args> auto bcast(...)`. The
// class has a member function self(), which returns the communicator.
#pragma once

#include <source_location>

#include "tutti/detail/invoke.hpp"
#include "tutti/detail/invoke_message.hpp"

// clang-format off
#define TUTTI_COLLECTIVE_FORM(NAME, ...)                                                                      \
  template <class... Args>                                                                                    \
  auto NAME(Args&&... args) const {                                                                           \
    return ::tutti::detail::invoke<::tutti::detail::collective_form{__VA_ARGS__}, void>(                      \
        self(), static_cast<Args&&>(args)...);                                                                \
  }
#define TUTTI_COLLECTIVE_FORM_ALONE(NAME, ...)                                                                \
  auto NAME(std::source_location at = std::source_location::current()) const {                                \
    return ::tutti::detail::invoke_alone<::tutti::detail::collective_form{__VA_ARGS__}, void>(self(), at);    \
  }
#define TUTTI_COLLECTIVE_FORM_OF_TYPE(NAME, ...)                                                              \
  template <class T = void, class... Args>                                                                    \
  auto NAME(Args&&... args) const {                                                                           \
    return ::tutti::detail::invoke<::tutti::detail::collective_form{__VA_ARGS__}, T>(                         \
        self(), static_cast<Args&&>(args)...);                                                                \
  }
#define TUTTI_COLLECTIVE_FORM_OF_TYPE_ALONE(NAME, ...)                                                        \
  template <class T = void>                                                                                   \
  auto NAME(std::source_location at = std::source_location::current()) const {                                \
    return ::tutti::detail::invoke_alone<::tutti::detail::collective_form{__VA_ARGS__}, T>(self(), at);       \
  }

#define TUTTI_MESSAGE_FORM(NAME, ...)                                                                         \
  template <class... Args>                                                                                    \
  auto NAME(Args&&... args) const {                                                                           \
    return ::tutti::detail::invoke_message<::tutti::detail::message_form{__VA_ARGS__}, void>(                 \
        self(), ::tutti::detail::named(static_cast<Args&&>(args))...);                                        \
  }
#define TUTTI_MESSAGE_FORM_ALONE(NAME, ...)                                                                   \
  auto NAME(std::source_location at = std::source_location::current()) const {                                \
    constexpr ::tutti::detail::message_form form{__VA_ARGS__};                                                \
    return ::tutti::detail::invoke_message_alone<form, void>(self(), at);                                     \
  }
#define TUTTI_MESSAGE_FORM_OF_TYPE(NAME, ...)                                                                 \
  template <class T = void, class... Args>                                                                    \
  auto NAME(Args&&... args) const {                                                                           \
    return ::tutti::detail::invoke_message<::tutti::detail::message_form{__VA_ARGS__}, T>(                    \
        self(), ::tutti::detail::named(static_cast<Args&&>(args))...);                                        \
  }
#define TUTTI_MESSAGE_FORM_OF_TYPE_ALONE(NAME, ...)                                                           \
  template <class T = void>                                                                                   \
  auto NAME(std::source_location at = std::source_location::current()) const {                                \
    constexpr ::tutti::detail::message_form form{__VA_ARGS__};                                                \
    return ::tutti::detail::invoke_message_alone<form, T>(self(), at);                                        \
  }

#define TUTTI_FOR_EACH_MODE(FORM, NAME, WHAT, ...)                                                            \
  FORM(NAME, .what = ::tutti::collective::WHAT,                                                               \
       .how = ::tutti::detail::mode::blocking __VA_OPT__(,) __VA_ARGS__)                                      \
  FORM(i##NAME, .what = ::tutti::collective::WHAT,                                                            \
       .how = ::tutti::detail::mode::nonblocking __VA_OPT__(,) __VA_ARGS__)                                   \
  FORM(NAME##_init, .what = ::tutti::collective::WHAT,                                                        \
       .how = ::tutti::detail::mode::persistent __VA_OPT__(,) __VA_ARGS__)
#define TUTTI_COLLECTIVE(...) TUTTI_FOR_EACH_MODE(TUTTI_COLLECTIVE_FORM, __VA_ARGS__)
#define TUTTI_COLLECTIVE_ALSO_ALONE(...)                                                                      \
  TUTTI_FOR_EACH_MODE(TUTTI_COLLECTIVE_FORM, __VA_ARGS__)                                                     \
  TUTTI_FOR_EACH_MODE(TUTTI_COLLECTIVE_FORM_ALONE, __VA_ARGS__)
#define TUTTI_COLLECTIVE_OF_TYPE(...)                                                                         \
  TUTTI_FOR_EACH_MODE(TUTTI_COLLECTIVE_FORM_OF_TYPE, __VA_ARGS__)                                             \
  TUTTI_FOR_EACH_MODE(TUTTI_COLLECTIVE_FORM_OF_TYPE_ALONE, __VA_ARGS__)

#define TUTTI_MESSAGE_AS(FORM, NAME, WHAT, ...)                                                               \
  FORM(NAME, .what = ::tutti::detail::message_call::WHAT __VA_OPT__(,) __VA_ARGS__)
#define TUTTI_MESSAGE(...) TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM, __VA_ARGS__)
#define TUTTI_MESSAGE_ALSO_ALONE(...)                                                                         \
  TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM, __VA_ARGS__)                                                           \
  TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM_ALONE, __VA_ARGS__)
#define TUTTI_MESSAGE_OF_TYPE_WITH_ARGUMENTS(...)                                                             \
  TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM_OF_TYPE, __VA_ARGS__)
#define TUTTI_MESSAGE_OF_TYPE(...)                                                                            \
  TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM_OF_TYPE, __VA_ARGS__)                                                   \
  TUTTI_MESSAGE_AS(TUTTI_MESSAGE_FORM_OF_TYPE_ALONE, __VA_ARGS__)
// clang-format on

// SPDX-License-Identifier: Apache-2.0
//
// All of the C++ face: run(), communicator, named parameters.
#pragma once

#include "tutti/communicator.hpp"
#include "tutti/core/error.hpp"
#include "tutti/graph.hpp"
#include "tutti/intercommunicator.hpp"
#include "tutti/ops.hpp"
#include "tutti/parameters.hpp"
#include "tutti/request.hpp"
#include "tutti/result.hpp"
#include "tutti/run.hpp"

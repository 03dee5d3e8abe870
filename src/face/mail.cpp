// SPDX-License-Identifier: Apache-2.0
//
// Point to point: messages checked, sent, waited for. Which receive gets which is src/mail's.
#include "tutti/core/mail.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "face/core.hpp"
#include "face/under_way.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {
namespace {

// held_letter has no definition: it is a parcel, under a name that programs may have.
fabric::parcel& parcel_of(held_letter* one) noexcept { return *reinterpret_cast<fabric::parcel*>(one); }
held_letter* held(fabric::parcel* one) noexcept { return reinterpret_cast<held_letter*>(one); }

constexpr const char* until_read = "a receive of its message by";

}  // namespace

// --- what is refused before anything is sent
// ------------------------------------------------------------------

inline mailbox& core::open_mail(const char* operation) {
  if (released_ || !mail_ || !carried_here()) [[unlikely]]
    open_first_mail(operation);
  return *mail_;
}

void core::open_first_mail(const char* operation) {
  refuse_freed(operation);
  if (mail_) return;  // any thread may call here
  be_open();
  std::unique_ptr<carrier> by = where_->open_mail();
  mail_ = std::make_unique<mailbox>(*where_, by ? std::move(by) : mail_to_oneself(*where_));
}

mailbox& core::own_mail(const char* operation) { return open_mail(operation); }

void core::refuse_peer(const char* operation, const char* parameter, int peer) const {
  const bool sends = parameter[0] == 'd';
  if (peer >= 0 && peer < size())
    refuse(operation, parameter,
           "is " + std::to_string(peer) + ", which rank " + std::to_string(rank()) +
               " does not know: it knows " + std::string(description_of(members_.knows())),
           "name one of these, or use split(0) of this communicator, which knows all");
  refuse(operation, parameter,
         "is " + std::to_string(peer) + ", but ranks are 0 to " + std::to_string(size() - 1),
         sends ? "name a rank of this communicator, or rank::null for nobody"
               : "name a rank of this communicator, rank::any or rank::null");
}

void core::refuse_tag(const char* operation, int tag) const {
  refuse(operation, "tag",
         "is " + std::to_string(tag) + ", but tags are 0 to " + std::to_string(mail_->greatest_tag()),
         "choose one of these");
}

// False where there is nobody to send to.
inline bool core::check_letter(const letter& l) {
  mailbox& box = open_mail(l.operation);
  if (static_cast<unsigned>(l.tag) > box.greatest_tag()) [[unlikely]]
    refuse_tag(l.operation, l.tag);
  if (static_cast<unsigned>(l.destination) < static_cast<unsigned>(size()) && members_.knows(l.destination))
      [[likely]]
    return true;
  if (l.destination != rank::null) refuse_peer(l.operation, "destination", l.destination);
  return false;
}

inline bool core::check_source(const char* operation, int source, int tag) {
  mailbox& box = open_mail(operation);
  if (tag != tags::any && static_cast<unsigned>(tag) > box.greatest_tag()) [[unlikely]]
    refuse_tag(operation, tag);
  if (source == rank::any ||
      (static_cast<unsigned>(source) < static_cast<unsigned>(size()) && members_.knows(source))) [[likely]]
    return true;
  if (source != rank::null) refuse_peer(operation, "source", source);
  return false;
}

void core::check(const reception& r) { check_source(r.operation, r.source, r.tag); }

// --- waiting
// ---------------------------------------------------------------------------------------------------

// Until `over`. Where nothing else is under way here, the engine waits as it does best, in `alone`, which may
// (`for_mail`) serve receives of this mailbox too.
template <class Over, class Alone>
void core::wait_for_mail(const fabric::wait_site& site, bool for_mail, const Over& over, const Alone& alone) {
  mailbox& box = *mail_;
  const auto& active = shared_->active;
  std::uint64_t moves = box.moves();
  while (!over()) {
    if (active.empty() || (for_mail && active.size() == 1 && active.front() == &box)) {
      alone();
    } else {
      serve_others(&box);
      box.take_in();
      if (box.moves() != moves) {
        moves = box.moves();
        door().progressed();
      }
      if (over()) break;
      door().pause(site);
    }
  }
  door().progressed();
}

void core::finish(want& w) {
  mailbox& box = *mail_;
  const auto site = box.site_of(w.what);
  wait_for_mail(
      site, true, [&] { return w.over(); },
      [&] {
        box.wait(site);
        box.take_in(&w);
      });
}

void core::finish(const letter& l, transfer& t) {
  mailbox& box = *mail_;
  const auto site = box.site_of(l.operation, until_read, l.destination, l.tag);
  bool sent = false;  // may be asked for once
  wait_for_mail(
      site, false, [&] { return sent || (sent = box.by().sent(t, site)); },
      [&] {
        box.by().wait_until_sent(t, site);
        sent = true;
      });
}

// --- blocking
// --------------------------------------------------------------------------------------------------

void core::send(const letter& l) {
  if (!check_letter(l)) return;
  guarded([&] {
    if (mail_->restless()) door().stir();
    transfer t;
    if (!mail_->by().post(l, t)) finish(l, t);
  });
}

envelope core::receive(const reception& r) {
  if (r.letter == nullptr && !check_source(r.operation, r.source, r.tag)) {
    if (r.room != nullptr) r.room(r.state, envelope{});
    return {};
  }
  if (r.letter != nullptr) open_mail(r.operation);
  want w;
  w.what = r;
  struct end_of_wait {
    mailbox& box;
    want& w;
    ~end_of_wait() { box.give_up(w); }
  };
  {
    const end_of_wait given_up{*mail_, w};
    guarded([&] {
      if (mail_->restless()) door().stir();
      mail_->begin(w);
      if (!w.over()) finish(w);
    });
  }
  w.settle();
  return w.found;
}

bool core::find_mail(const char* operation, int source, int tag, bool wait, envelope& found) {
  mailbox& box = *mail_;
  bool there = false;
  guarded([&] {
    box.take_in();
    if ((there = box.find(source, tag, found, operation))) return;
    if (!wait) {  // nothing is said of a wait: the program may do so for as long as it likes
      serve_others(&box);
      if (door().size() > 1) door().pause(box.site_of(operation, "a message", -1, tag));
      door().progressed();
      box.take_in();
      there = box.find(source, tag, found, operation);
      return;
    }
    const auto site = box.site_of({.operation = operation, .source = source, .tag = tag});
    wait_for_mail(
        site, true, [&] { return there = box.find(source, tag, found, operation); },
        [&] {
          box.wait(site);
          box.take_in();
        });
  });
  return there;
}

bool core::look(const char* operation, int source, int tag, bool wait, envelope& found) {
  found = {};
  if (!check_source(operation, source, tag)) return true;
  return find_mail(operation, source, tag, wait, found);
}

held_letter* core::take(const char* operation, int source, int tag, bool wait, envelope& found) {
  found = {};
  if (!check_source(operation, source, tag)) return nullptr;
  while (find_mail(operation, source, tag, wait, found))
    if (fabric::parcel* const one = mail_->take_out(found, operation)) return held(one);
  found = {};
  return nullptr;
}

// --- nonblocking and persistent
// -------------------------------------------------------------------------------

/// A message under way, or prepared. When it is complete it waits for the next one.
class mail_under_way final : public pending {
 public:
  explicit mail_under_way(core& where) : where_(where) { slot = where.noted_place::slot; }
  ~mail_under_way() = default;
  mail_under_way(const mail_under_way&) = delete;
  mail_under_way& operator=(const mail_under_way&) = delete;

  void prepare(const letter& l, bool to_somebody) {
    sends_ = true;
    nobody_ = !to_somebody;
    letter_ = l;
  }
  void prepare(const reception& r, bool from_somebody) {
    sends_ = false;
    nobody_ = !from_somebody;
    want_.what = r;
    want_.lasts = true;
    want_.found = {};
  }

  void start() override {
    mailbox& box = where_.open_mail(operation());
    // Also where its message has come: that it was received would be lost.
    if (started_) where_.refuse(operation(), "", "is under way already", "wait() before the next start()");
    started_ = true;
    complete_ = false;
    if (nobody_) {
      const reception& r = want_.what;
      if (!sends_ && r.room != nullptr) r.room(r.state, envelope{});
      return;
    }
    where_.guarded([&] {
      if (box.restless()) where_.door().stir();
      if (sends_)
        sending_ = !box.by().post(letter_, moving_);
      else
        box.begin(want_);
    });
    auto& active = where_.shared_->active;
    if (!sends_ && !want_.over() && std::find(active.begin(), active.end(), &box) == active.end())
      where_.shared_->add_active(box);
  }
  bool test() override {
    where_.refuse_elsewhere(operation());
    if (!ended()) {
      where_.guarded([&] {
        where_.serve_others(nullptr);
        // To be asked is not to wait: a rank that is alone has nobody to make room for.
        if (!ended() && where_.door().size() > 1) where_.door().pause(site());
      });
      if (!over()) return false;
    }
    complete();
    return true;
  }
  void wait() override {
    where_.refuse_elsewhere(operation());
    if (!ended()) {
      where_.guarded([&] {
        if (sends_)
          where_.finish(letter_, moving_);
        else
          where_.finish(want_);
      });
      sending_ = false;
    }
    complete();
  }
  const envelope* found() const noexcept override { return !sends_ && complete_ ? &want_.found : nullptr; }

  bool dismiss() noexcept override {
    if (!where_.usable()) [[unlikely]] {
      const bool goes = where_.let_go_elsewhere(!over(), operation());
      if (goes) delete this;
      return goes;
    }
    std::unique_ptr<mail_under_way> self(this);
    end_use(*this, where_.door(), operation(), where_.rank());
    if (where_.mail_) {
      where_.mail_->give_up(want_);
      leave_active();
    }
    auto& idle = where_.idle_mail_;
    if (sending_ || idle.size() == idle.capacity()) return true;
    want_.refusal = nullptr;
    started_ = complete_ = false;
    idle.push_back(self.release());
    return true;
  }

 private:
  const char* operation() const noexcept { return sends_ ? letter_.operation : want_.what.operation; }
  bool over() const noexcept { return !sending_ && want_.over(); }
  bool ended() {
    if (sending_) sending_ = !where_.mail_->by().sent(moving_, site());
    return over();
  }
  fabric::wait_site site() const noexcept {
    return sends_ ? where_.mail_->site_of(letter_.operation, until_read, letter_.destination, letter_.tag)
                  : where_.mail_->site_of(want_.what);
  }
  void complete() {
    leave_active();
    complete_ = started_ || complete_;
    started_ = false;
    if (want_.refusal) [[unlikely]] {
      complete_ = false;
      want_.settle();
    }
  }
  void leave_active() noexcept {
    if (sends_ || !where_.mail_ || where_.mail_->busy()) return;
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), where_.mail_.get()), active.end());
  }

  core& where_;
  bool sends_ = false, nobody_ = false;
  bool sending_ = false;  // under way
  bool started_ = false;  // and not known to be complete
  bool complete_ = false;
  letter letter_;
  transfer moving_;
  want want_;
};

template <class What>
pending_call core::make_mail(const What& what, bool somebody, bool started) {
  owner<mail_under_way> made = idle_or_new(idle_mail_, most_idle, *this);
  made->prepare(what, somebody);
  if (started) made->start();
  return made;
}

pending_call core::make_send(const letter& l, bool started) { return make_mail(l, check_letter(l), started); }
pending_call core::make_receive(const reception& r, bool started) {
  const bool somebody = r.letter != nullptr || check_source(r.operation, r.source, r.tag);
  return make_mail(r, somebody, started);
}

void core::end_mail() noexcept {
  for (const mail_under_way* one : idle_mail_) delete one;
  idle_mail_.clear();
  std::erase(shared_->active, mail_.get());
  mail_.reset();
}

// --- the door (tutti/core/mail.hpp)
// ----------------------------------------------------------------------------

void send(core& c, const letter& l) { c.send(l); }
pending_call start_send(core& c, const letter& l) { return c.make_send(l, true); }
pending_call prepare_send(core& c, const letter& l) { return c.make_send(l, false); }
void check_reception(core& c, const reception& r) { c.check(r); }
envelope receive(core& c, const reception& r) { return c.receive(r); }
pending_call start_receive(core& c, const reception& r) { return c.make_receive(r, true); }
pending_call prepare_receive(core& c, const reception& r) { return c.make_receive(r, false); }
envelope found(const pending& p) noexcept {
  const envelope* e = p.found();
  return e != nullptr ? *e : envelope{};
}
bool look(core& c, const char* operation, int source, int tag, bool wait, envelope& e) {
  return c.look(operation, source, tag, wait, e);
}
held_letter* take(core& c, const char* operation, int source, int tag, bool wait, envelope& e) {
  return c.take(operation, source, tag, wait, e);
}
// After the run the letter went with its engine; on another thread it stays out.
void put_back(core& c, held_letter* one) noexcept {
  if (c.usable()) c.put_back(parcel_of(one));
}

}  // namespace tutti::detail

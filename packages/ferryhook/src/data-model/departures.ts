import type { DataModel } from '@strongroom/kit/data-model'

export const departures: DataModel['departures'] = [
  {
    what: 'The sort key of an attempt also names connection and run, and attempts expire',
    decision: '0013-ferryhook-attempt-keys.md',
  },
  {
    what: 'Deliveries are items; the status of an event follows from them, and has three more values',
    decision: '0014-ferryhook-deliveries-and-status.md',
  },
  {
    what: 'GSI1 of ferryhook-events has keys only, and a reference item finds events without it',
    decision: '0015-ferryhook-event-references.md',
  },
  {
    what: 'Bodies over 4 KB, or that are not text, are items of their own, compressed and binary',
    decision: '0016-ferryhook-bodies.md',
  },
  {
    what: 'expiresAt moves while a delivery still needs its event',
    decision: '0017-ferryhook-retention.md',
  },
  {
    what: 'expiresAt also moves while work on its event is overdue, and late work is still done',
    decision: '0086-ferryhook-overdue-work.md',
  },
  {
    what: 'Due work, waiting deliveries and wakes are items of ferryhook-events',
    decision: '0018-ferryhook-due-work.md',
  },
  {
    what: 'Connections and API keys are found by id through GSI3; indexes only say where to look',
    decision: '0019-ferryhook-lookups.md',
  },
  {
    what: 'E-mail addresses and sign-in identities are unique by guard items',
    decision: '0020-ferryhook-guards.md',
  },
  {
    what: 'Sessions, audit entries, deduplication keys, tickets and rates live in ferryhook-events',
    decision: '0021-ferryhook-expiring-items.md',
  },
  {
    what: 'Counters are added in batches behind a mark, and usage is of the calendar month',
    decision: '0022-ferryhook-counters.md',
  },
  {
    what: 'More providers, sealed secrets and options of signing, revisions of connections, soft deletion, the prefix of a key',
    decision: '0023-ferryhook-attributes.md',
  },
  {
    what: 'Sources and connections are made within the limits of a plan by a revision of their owner',
    decision: '0045-ferryhook-plan-limits.md',
  },
  {
    what: 'Replays are items; deliveries know the replay that began them and where their task waits',
    decision: '0052-ferryhook-replays.md',
  },
  {
    what: 'Figures of hours and days are items, counted from the events of the hour',
    decision: '0053-ferryhook-figures.md',
  },
  {
    what: 'How a user is alerted is an item beside the profile',
    decision: '0054-ferryhook-alerts.md',
  },
]

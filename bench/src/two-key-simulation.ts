// Simulates a flood of invented ids and an outage of Slack, with a simulated clock.

import { testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { createExistenceChecker } from '@strongroom/two-key/existence/checker'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'

const MINUTES = 20
const INVENTED_A_SECOND = 1_000
const USERS = 50
const CHANNELS = 12
/** The interval between requests of a user. */
const PACE = 7
const OUTAGE_SECONDS = 60

const TEAM = {
  id: 'T1',
  token: 'xoxb-of-the-benchmark',
  users: Array.from({ length: USERS }, (_, at) => ({ id: `UREAL${at}` })),
  channels: Array.from({ length: CHANNELS }, (_, at) => ({ id: `CREAL${at}` })),
}

interface Ids {
  team: string
  user: string
  channel: string
}

const people: readonly Ids[] = TEAM.users.map(({ id }, at) => ({
  team: TEAM.id,
  user: id,
  channel: `CREAL${at % CHANNELS}`,
}))

async function world() {
  const clock = testClock()
  const timers = testTimers(clock)
  const slack = createFakeSlack({ teams: [TEAM], limits: true, clock })
  const checker = createExistenceChecker({
    tokenOf: async () => TEAM.token,
    fetch: slack.fetch,
    clock,
    startTimer: timers.start,
  })
  const check = async (ids: Ids) =>
    checker.check(ids, { deadline: clock.now() + 2000, channelPolicy: 'strict' })
  for (const ids of people) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as on a quiet day
    await check(ids)
    clock.advance({ seconds: 2 })
  }
  return { clock, timers, slack, check }
}

export async function simulateFlood() {
  const { timers, slack, check } = await world()
  const started = performance.now()
  const found = { refused: 0, passed: 0, maxUsers: 0, maxChannels: 0, decisions: 0 }
  let counted = slack.calls().length
  const real = async (ids: Ids) => {
    if (!(await check(ids)).ok) found.refused++
  }
  const invented = async () => {
    const number = (found.decisions++).toString(36).toUpperCase()
    const ids = { team: TEAM.id, user: `UFAKE${number}`, channel: `CFAKE${number}` }
    if ((await check(ids)).ok) found.passed++
  }
  const waiting: Promise<void>[] = []
  for (let second = 0; second < 60 * MINUTES; second++) {
    const flood = Array.from({ length: INVENTED_A_SECOND }, invented)
    waiting.push(...people.filter((_, at) => (second + at) % PACE === 0).map(real))
    /* oxlint-disable no-await-in-loop -- second after second */
    await Promise.all(flood)
    await timers.pass({ seconds: 1 })
    /* oxlint-enable no-await-in-loop */
    if (second % 60 !== 59) continue
    const calls = slack.calls().slice(counted)
    counted += calls.length
    const made = (method: string) => calls.filter((call) => call.method === method).length
    found.maxUsers = Math.max(found.maxUsers, made('users.info'))
    found.maxChannels = Math.max(found.maxChannels, made('conversations.info'))
  }
  await timers.pass({ seconds: 2 })
  await Promise.all(waiting)
  return { ...found, minutes: MINUTES, seconds: (performance.now() - started) / 1000 }
}

export async function simulateOutage() {
  const { clock, timers, slack, check } = await world()
  await timers.pass({ seconds: 300 })
  slack.break({ kind: 'hang' })
  const found = { passed: 0, longestMs: 0 }
  const request = async (ids: Ids) => {
    const started = clock.now()
    if ((await check(ids)).ok) found.passed++
    found.longestMs = Math.max(found.longestMs, clock.now() - started)
  }
  for (let second = 0; second < OUTAGE_SECONDS; second += 2) {
    const requests = people.map(request)
    /* oxlint-disable no-await-in-loop -- second after second */
    await timers.pass({ seconds: 2 })
    await Promise.all(requests)
    /* oxlint-enable no-await-in-loop */
  }
  return found
}

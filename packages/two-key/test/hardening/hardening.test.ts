import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { twoKey, type TwoKeyOptions, verifySlackRequest } from '../../src/verify.ts'
import { askedChecker } from '../asked-checker.ts'
import {
  APP,
  blockActions,
  command,
  eventBody,
  message,
  messageAction,
  samples,
  shortcut,
  viewSubmission,
} from '../samples.ts'
import { official, type Signed, signedForm, signedJson, signedPayload } from '../signed.ts'

async function decide(request: Signed, options: Partial<TwoKeyOptions> = {}) {
  const checker = askedChecker()
  const clock = testClock()
  const keys = twoKey({ signingSecret: official.secret, checker, clock, ...options })
  const decision = await verifySlackRequest(request, keys)
  return decision.ok ? 'accepted' : [decision.code, decision.status, checker.asked.length]
}

const FOREIGN = ['foreign_response_url', 403, 0]

describe('an address for answers', () => {
  test.each([
    'https://evil.example/commands/T1',
    'http://hooks.slack.com/commands/T1',
    'https://hooks.slack.com.evil.example/',
    'https://hooks.slack.com@evil.example/',
    'https://user:pass@hooks.slack.com/',
    'https://hooks.slack.com:8443/',
    'https://evilhooks.slack.com/',
    'https://hooks.slack.com\\@evil.example/',
    'https://hooks.slack.com%2eevil.example/',
    'https://hooks.slack.com/\nhost: evil.example',
    'https://hooks.slack.com',
    'http://169.254.169.254/latest/meta-data',
    'javascript:alert(1)',
    '//evil.example/',
    'not an address',
  ])(
    'is refused unless it is that of Slack, in every payload that may have one: %s',
    async (url) => {
      expect(await decide(signedForm({ ...command, response_url: url }))).toEqual(FOREIGN)
      expect(await decide(signedPayload({ ...blockActions, response_url: url }))).toEqual(FOREIGN)
      expect(await decide(signedPayload({ ...messageAction, response_url: url }))).toEqual(FOREIGN)
      expect(await decide(signedJson(eventBody(message, { response_url: url })))).toEqual(FOREIGN)
      const response_urls = [
        { response_url: 'https://hooks.slack.com/app/1' },
        { response_url: url },
      ]
      expect(await decide(signedPayload({ ...viewSubmission, response_urls }))).toEqual(FOREIGN)
    },
  )

  test.each([
    { response_url: ['https://hooks.slack.com/'] },
    { response_url: { href: 'https://hooks.slack.com/' } },
    { response_urls: 'https://hooks.slack.com/' },
    { response_urls: ['https://hooks.slack.com/'] },
    { response_urls: [{}] },
  ])('is text in the place where Slack has it: %j', async (more) => {
    expect(await decide(signedPayload({ ...viewSubmission, ...more }))).toEqual(FOREIGN)
  })

  test('is accepted at Slack, and at hosts that are configured', async () => {
    expect(await decide(signedForm(command))).toBe('accepted')
    const response_urls = [{ response_url: 'https://hooks.slack.com/app/1', channel_id: 'C1' }]
    expect(await decide(signedPayload({ ...viewSubmission, response_urls }))).toBe('accepted')
    const gov = signedForm({ ...command, response_url: 'https://hooks.gov.example/1' })
    expect(await decide(gov)).toEqual(FOREIGN)
    expect(await decide(gov, { responseHosts: ['hooks.gov.example'] })).toBe('accepted')
  })
})

describe('the id of the app', () => {
  test.each(Object.entries(samples))(
    'is accepted where it is ours, and where Slack leaves it out: %s',
    async (_, sample) => {
      expect(await decide(sample(), { appId: APP })).toBe('accepted')
    },
  )

  test('is refused where it is that of another, or left out where Slack has it', async () => {
    const foreign = ['foreign_app', 403, 0]
    const other = { api_app_id: 'A0OTHER' }
    const requests = [
      signedJson(eventBody(message, other)),
      signedJson(eventBody({ type: 'app_uninstalled' }, other)),
      signedForm({ ...command, ...other }),
      signedPayload({ ...blockActions, ...other }),
      signedPayload({ ...shortcut, ...other }),
      signedJson(eventBody(message, { api_app_id: undefined })),
      signedPayload({ ...viewSubmission, api_app_id: null }),
    ]
    for (const request of requests) expect(await decide(request, { appId: APP })).toEqual(foreign)
    expect(await decide(requests[0]!)).toBe('accepted')
  })
})

import { testClock } from '@strongroom/kit/testing/test-clock'
import { describe, expect, test } from 'vitest'
import { twoKey, type TwoKeyOptions, verifySlackRequest } from '../src/verify.ts'
import { createFakeChecker } from './support/fake-checker.ts'
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
} from './support/samples.ts'
import { official, type Signed, signedForm, signedJson, signedPayload } from './support/signed.ts'

async function decide(request: Signed, options: Partial<TwoKeyOptions> = {}) {
  const checker = createFakeChecker()
  const clock = testClock()
  const keys = twoKey({ signingSecret: official.secret, checker, clock, ...options })
  const decision = await verifySlackRequest(request, keys)
  return decision.ok ? 'accepted' : [decision.code, decision.status, checker.checks.length]
}

const FOREIGN = ['foreign_response_url', 403, 0]

describe('a response URL', () => {
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
  ])('is rejected unless it is Slack’s, in every payload that may have one: %s', async (url) => {
    expect(await decide(signedForm({ ...command, response_url: url }))).toEqual(FOREIGN)
    expect(await decide(signedPayload({ ...blockActions, response_url: url }))).toEqual(FOREIGN)
    expect(await decide(signedPayload({ ...messageAction, response_url: url }))).toEqual(FOREIGN)
    expect(await decide(signedJson(eventBody(message, { response_url: url })))).toEqual(FOREIGN)
    const response_urls = [{ response_url: 'https://hooks.slack.com/app/1' }, { response_url: url }]
    expect(await decide(signedPayload({ ...viewSubmission, response_urls }))).toEqual(FOREIGN)
  })

  test.each([
    { response_url: ['https://hooks.slack.com/'] },
    { response_url: { href: 'https://hooks.slack.com/' } },
    { response_urls: 'https://hooks.slack.com/' },
    { response_urls: ['https://hooks.slack.com/'] },
    { response_urls: [{}] },
  ])('must be a text where Slack sends it: %j', async (more) => {
    expect(await decide(signedPayload({ ...viewSubmission, ...more }))).toEqual(FOREIGN)
  })

  test('is accepted at Slack and at configured hosts', async () => {
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
    'is accepted if it is the app’s own, or if Slack leaves it out: %s',
    async (_, sample) => {
      expect(await decide(sample(), { appId: APP })).toBe('accepted')
    },
  )

  test('is rejected if it is another app’s, or missing where Slack sends it', async () => {
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

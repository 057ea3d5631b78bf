import { describe, expect, test } from 'vitest'
import { defineConfig } from '@strongroom/kit/config'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { destinationPolicy } from '../../src/outbound/destination-url.ts'
import { ferryhookSettings } from '../../src/settings.ts'

const listeners = [{ host: '127.0.0.1', port: 4280 }]
const ownAddresses = { origins: ['http://127.0.0.1:4280'], listeners }

/** The reason why a URL is refused when it is saved. */
function refusal(
  url: string,
  isLocal: boolean | undefined,
  env: Record<string, string> = {},
  endpoints: string[] = [],
) {
  const settings = defineConfig(ferryhookSettings).parse(env)
  const deps = {
    ownAddresses: { ...ownAddresses, endpoints },
    ...(isLocal !== undefined && { isLocal }),
  }
  const safeFetch = createSafeFetch(destinationPolicy(settings, deps))
  try {
    safeFetch.check(url)
    return 'allowed'
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    return error.reason
  }
}

describe('destinations on this machine', () => {
  test.each(['http://127.0.0.1:3000/hook', 'http://localhost:3000/', 'http://[::1]:3000/'])(
    '%s is allowed while only this machine can reach the server',
    (url) => {
      expect(refusal(url, true)).toBe('allowed')
      expect(refusal(url, false)).toBe('invalid_url')
    },
  )

  test.each(['http://127.0.0.1:4280/in/x', 'http://localhost:4280/', 'http://[::1]:4280/'])(
    '%s is refused, because it is the server itself',
    (url) => {
      expect(refusal(url, true)).toBe('blocked_address')
    },
  )

  test.each(['http://shop.example.com/', 'http://10.0.0.1:3000/', 'https://192.168.1.1/'])(
    '%s is refused as before',
    (url) => {
      expect(refusal(url, true)).not.toBe('allowed')
    },
  )

  test('are refused where strangers may sign up, who could come through a tunnel', () => {
    expect(refusal('http://127.0.0.1:3000/hook', true, { FERRYHOOK_SIGNUP: 'open' })).toBe(
      'invalid_url',
    )
  })

  test('are refused where the server has its data', () => {
    const endpoints = ['http://localhost:8000']
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(refusal(`http://${host}:8000/`, true, {}, endpoints)).toBe('blocked_address')
    }
    const allowed = { FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', FERRYHOOK_ALLOW_HTTP: 'true' }
    expect(refusal('http://localhost:8000/', undefined, allowed, endpoints)).toBe('blocked_address')
  })

  test('are refused where other processes deliver, which cannot know who reaches the server', () => {
    const url = 'http://127.0.0.1:3000/hook'
    expect(refusal(url, undefined)).toBe('invalid_url')
    expect(refusal(url, true, { FERRYHOOK_DELIVER: 'false' })).toBe('invalid_url')
    const allowed = { FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8', FERRYHOOK_ALLOW_HTTP: 'true' }
    expect(refusal(url, undefined, allowed)).toBe('allowed')
  })
})

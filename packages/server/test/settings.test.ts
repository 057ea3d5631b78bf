import { integer } from '@strongroom/kit/config-types'
import { describe, expect, test } from 'vitest'
import { settingsWith } from '../src/own-settings.ts'
import { isLocalServer, settings } from '../src/settings.ts'

describe('the settings', () => {
  const limit = {
    type: integer({ min: 1, max: 9 }),
    default: 3,
    description: 'How often a note may be read',
  }
  const withNotes = settingsWith([{ settings: { STRONGROOM_NOTES_READS: limit } }])

  test('include those of services, with defaults and checks', () => {
    expect(withNotes.parse({})).toMatchObject({ STRONGROOM_NOTES_READS: 3, PORT: 4280 })
    expect(withNotes.parse({ STRONGROOM_NOTES_READS: '5' })).toMatchObject({
      STRONGROOM_NOTES_READS: 5,
    })
    expect(() => withNotes.parse({ STRONGROOM_NOTES_READS: '10' })).toThrow(
      'STRONGROOM_NOTES_READS must be a whole number from 1 to 9, but is "10"',
    )
  })

  test('reject those that no service declares', () => {
    expect(() => settings.parse({ STRONGROOM_NOTES_READS: '5' })).toThrow(
      'STRONGROOM_NOTES_READS is not a setting',
    )
  })

  test('reject a path in the public URL, because pages and cookies are at the root', () => {
    expect(settings.parse({ PUBLIC_URL: 'https://trust.example/' })).toMatchObject({
      PUBLIC_URL: 'https://trust.example',
    })
    expect(() => settings.parse({ PUBLIC_URL: 'https://example.com/trust' })).toThrow(
      'PUBLIC_URL must be an http or https address without user, query and fragment, and without a path, but is "https://example.com/trust"',
    )
  })

  test.each<[boolean, Record<string, string>, string[]]>([
    [true, {}, ['127.0.0.1']],
    [true, { STRONGROOM_TRUSTED_PROXIES: '0' }, ['127.0.0.1', '::1', 'localhost']],
    [false, {}, ['0.0.0.0']],
    [false, {}, ['::']],
    [false, {}, ['127.0.0.1', '10.0.0.5']],
    [false, {}, ['db.example']],
    [false, { PUBLIC_URL: 'https://trust.example' }, ['127.0.0.1']],
    [false, { PUBLIC_URL: 'http://127.0.0.1:4280' }, ['127.0.0.1']],
    [false, { STRONGROOM_TRUSTED_PROXIES: '1' }, ['127.0.0.1']],
    [false, { STRONGROOM_TRUSTED_PROXIES: '127.0.0.1/32' }, ['127.0.0.1']],
    [false, { SEALED_ORIGIN: 'https://secrets.example' }, ['127.0.0.1']],
  ])('say whether only this machine can reach the server: %s, %j, %j', (expected, env, hosts) => {
    const listeners = hosts.map((host) => ({ host }))
    expect(isLocalServer(settings.parse(env), listeners)).toBe(expected)
  })
})

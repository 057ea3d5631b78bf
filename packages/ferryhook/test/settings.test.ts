import { defineConfig } from '@strongroom/kit/config'
import { describe, expect, test } from 'vitest'
import { createProviders } from '../src/accounts/oauth/providers.ts'
import { destinationPolicy } from '../src/outbound/destination-url.ts'
import { ferryhookSettings } from '../src/settings.ts'

const parse = (env: Record<string, string>) => defineConfig(ferryhookSettings).parse(env)

describe('the settings of Ferryhook', () => {
  test('default to a private server', () => {
    expect(parse({})).toMatchObject({
      FERRYHOOK_SIGNUP: 'invite',
      FERRYHOOK_DEFAULT_PLAN: 'team',
      FERRYHOOK_ALLOWED_NETWORKS: [],
      FERRYHOOK_ALLOW_HTTP: false,
      FERRYHOOK_DELIVER: true,
    })
    expect(createProviders(parse({}))).toEqual({})
  })

  test('allow deliveries only to public addresses over https by default', () => {
    expect(destinationPolicy(parse({}))).toMatchObject({
      allow: [],
      allowHttp: false,
    })
    const FERRYHOOK_ALLOWED_NETWORKS = '10.1.0.0/16, fd12::/48'
    expect(
      destinationPolicy(parse({ FERRYHOOK_ALLOWED_NETWORKS, FERRYHOOK_ALLOW_HTTP: 'yes' })),
    ).toMatchObject({
      allow: ['10.1.0.0/16', 'fd12::/48'],
      allowHttp: true,
    })
  })

  test.each([
    '10.1.0.0',
    '10.1.0.0/33',
    'fd12::/129',
    'localhost/8',
    '10.1.0.0/16;x',
    'fe80::%1/64',
  ])('reject %s as a network', (given) => {
    expect(() => parse({ FERRYHOOK_ALLOWED_NETWORKS: given })).toThrow(
      'The configuration is not valid',
    )
  })

  test.each(['GITHUB', 'GOOGLE'])(
    'require both the client ID and the secret of %s, or neither',
    (provider) => {
      for (const half of ['CLIENT_ID', 'CLIENT_SECRET']) {
        const settings = parse({ [`FERRYHOOK_${provider}_${half}`]: 'one half' })
        expect(() => createProviders(settings)).toThrow(
          `FERRYHOOK_${provider}_CLIENT_ID and FERRYHOOK_${provider}_CLIENT_SECRET belong together`,
        )
      }
    },
  )

  test.each(['smtps://ada:hush@mail.example.com', 'smtp://localhost:25?requireTLS=true'])(
    'accept %s as a mail server',
    (given) => {
      expect(parse({ FERRYHOOK_SMTP_URL: given })['FERRYHOOK_SMTP_URL']).toBe(given)
    },
  )

  test.each(['mail.example.com', 'https://mail.example.com', 'smtp://', 'smtp://a b'])(
    'reject %s as a mail server without quoting it',
    (given) => {
      const refused = () => parse({ FERRYHOOK_SMTP_URL: given })
      expect(refused).toThrow(/FERRYHOOK_SMTP_URL must be an address like smtps:/)
      expect(refused).not.toThrow(`"${given}"`)
    },
  )
})

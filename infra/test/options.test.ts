import { describe, expect, test } from 'vitest'
import { readOptions } from '../src/options.ts'
import { REQUIRED, resourcesOf, synthesize } from './support/synthesize.ts'

const read = (context: Record<string, unknown>) => readOptions((name) => context[name])

describe('the options of a deployment', () => {
  test('are the domain and the address for alarms, and defaults for the rest', () => {
    expect(read(REQUIRED)).toEqual({
      domain: 'strongroom.example.com',
      email: 'ops@example.com',
      prefix: '',
      environment: 'production',
      worker: 'lambda',
      logRetentionDays: 30,
      requestsPerSecond: 200,
      settings: {},
    })
  })

  test.each([
    [{ email: REQUIRED.email }, 'The option domain is missing: add -c domain=…'],
    [{ domain: REQUIRED.domain }, 'The option email is missing: add -c email=…'],
    [{ ...REQUIRED, domain: 'https://x.example' }, 'The option domain is invalid: expected a host'],
    [{ ...REQUIRED, domain: 'localhost' }, 'The option domain is invalid'],
    [{ ...REQUIRED, email: 'ops' }, 'The option email is invalid: expected an e-mail address'],
    [{ ...REQUIRED, prefix: 'Dev_' }, 'The option prefix is invalid: expected up to 20'],
    [{ ...REQUIRED, worker: 'ec2' }, 'The option worker is invalid: expected lambda or fargate'],
    [{ ...REQUIRED, worker: 'fargate' }, 'The option workerImage is missing: build the Dockerfile'],
    [
      { ...REQUIRED, logRetentionDays: '31' },
      'The option logRetentionDays is invalid: expected one',
    ],
    [{ ...REQUIRED, requestsPerSecond: '0' }, 'The option requestsPerSecond is invalid'],
    [{ ...REQUIRED, hostedZoneId: 'example.com' }, 'The option hostedZoneId is invalid'],
    [{ ...REQUIRED, certificateArn: 'x' }, 'The option certificateArn is invalid'],
    [{ ...REQUIRED, sealedDomain: REQUIRED.domain }, 'it must differ from domain'],
    [{ ...REQUIRED, settings: '[1]' }, 'The option settings is invalid: expected a JSON object'],
    [{ ...REQUIRED, settings: '{' }, 'The option settings is invalid: expected a JSON object'],
  ])('are refused with what to correct: %j', (context, message) => {
    expect(() => read(context)).toThrow(message)
  })

  test('give a setting to the functions that read it, and refuse one that none reads', () => {
    const settings = '{"FERRYHOOK_SIGNUP":"open"}'
    const functions = resourcesOf(synthesize({ ...REQUIRED, settings }), 'AWS::Lambda::Function')
    const having = functions
      .filter(([, { Properties }]) => Properties.Environment.Variables.FERRYHOOK_SIGNUP === 'open')
      .map(([id]) => id)
    expect(having).toContain('FerryhookApiFunction')
    expect(having).not.toContain('SealedRequestsFunction')
    const wrong = { ...REQUIRED, settings: { FERRYHOOK_SINGUP: 'open' } }
    expect(() => synthesize(wrong)).toThrow('no function reads FERRYHOOK_SINGUP')
    const own = { ...REQUIRED, settings: { PUBLIC_URL: 'https://x.example' } }
    expect(() => synthesize(own)).toThrow('the stack sets PUBLIC_URL itself')
  })

  test('put the prefix before every name', () => {
    const template = synthesize({ ...REQUIRED, prefix: 'dev-' })
    for (const [, { Properties }] of resourcesOf(template, 'AWS::DynamoDB::Table'))
      expect(Properties.TableName).toMatch(/^dev-/)
    for (const [, { Properties }] of resourcesOf(template, 'AWS::Lambda::Function')) {
      expect(Properties.FunctionName).toMatch(/^dev-/)
      expect(Properties.Environment.Variables.STRONGROOM_TABLE_PREFIX).toBe('dev-')
    }
    for (const [, { Properties }] of resourcesOf(template, 'AWS::KMS::Alias'))
      expect(Properties.AliasName).toMatch(/^alias\/dev-/)
  })

  test('put Sealed on a host name of its own', () => {
    const template = synthesize({ ...REQUIRED, sealedDomain: 'sealed.example.com' })
    expect(template.Resources['SealedApiRouteDefault']?.Properties.Target).toEqual({
      'Fn::Join': ['', ['integrations/', { Ref: 'SealedRequestsSealedApiIntegration' }]],
    })
    expect(template.Resources['SealedApiDomain']?.Properties.DomainName).toBe('sealed.example.com')
    const { Variables } = template.Resources['SealedRequestsFunction']?.Properties.Environment ?? {}
    expect(Variables.SEALED_ORIGIN).toBe('https://sealed.example.com')
  })

  test('create DNS records and validate the certificate in a given zone', () => {
    const template = synthesize({ ...REQUIRED, hostedZoneId: 'Z0123456789ABC' })
    expect(template.Resources['ApiRecord']?.Properties).toMatchObject({
      HostedZoneId: 'Z0123456789ABC',
      Name: 'strongroom.example.com',
    })
    expect(template.Resources['Certificate']?.Properties.DomainValidationOptions).toEqual([
      { DomainName: 'strongroom.example.com', HostedZoneId: 'Z0123456789ABC' },
    ])
  })

  test('use a given certificate instead of requesting one', () => {
    const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/abc'
    const template = synthesize({ ...REQUIRED, certificateArn })
    expect(resourcesOf(template, 'AWS::CertificateManager::Certificate')).toEqual([])
    expect(
      template.Resources['ApiDomain']?.Properties.DomainNameConfigurations[0].CertificateArn,
    ).toBe(certificateArn)
  })
})

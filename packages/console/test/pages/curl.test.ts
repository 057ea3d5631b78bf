import { expect, test } from 'vitest'
import { toCurl } from '../../src/app/pages/events/curl.ts'

const event = { method: 'POST', headers: {}, query: null, encoding: 'utf-8' } as const

test('a request as a command contains its body as text', () => {
  expect(toCurl({ ...event, body: "it's {\n\t}" }, 'https://example.com/')).toBe(
    "curl -X POST 'https://example.com/' \\\n  --data-binary 'it'\\''s {\n\t}'",
  )
})

test.each(['\u0003', '\u001b[201~', '\r', '\0', '\u009b'])(
  'a request as a command contains no control characters of a body with %j, on which a terminal would act',
  (control) => {
    const body = `{}${control}\nrm -rf ~\n`
    const command = toCurl({ ...event, body }, 'https://example.com/')
    expect(command).not.toContain('rm -rf')
    expect(command).not.toContain(control)
    expect(command).toContain(Buffer.from(body).toString('base64'))
  },
)

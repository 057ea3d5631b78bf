/** The vectors that unit tests, tests of the command line and tests in a browser all read. */
import vectors from '../vectors.json' with { type: 'json' }

export const secrets = vectors.secrets.map(({ text, times = 1, ...rest }) => ({
  ...rest,
  text: text.repeat(times),
}))

export const files = vectors.files.map(({ file: { times = 1, bytes, ...file }, ...rest }) => ({
  ...rest,
  /** Its bytes are hexadecimal. */
  file: { ...file, bytes: bytes.repeat(times) },
}))

export const work = vectors.work.map(({ ciphertext, ...rest }) => ({
  ...rest,
  ciphertext: new Uint8Array(ciphertext.times).fill(ciphertext.byte),
}))

/** The bytes of files are hexadecimal. */
export const requests = vectors.requests.map(({ text, file, ...rest }) => ({
  ...rest,
  content: file ?? text,
}))

export const { links, points } = vectors

export function secretNamed(name: string) {
  const found = secrets.find((secret) => secret.name === name)
  if (!found) throw new Error(`There is no vector "${name}"`)
  return found
}

/** The view is spent all the same: nothing but this process had its claim. */
export class CannotWrite extends Error {
  override readonly name = 'CannotWrite'

  constructor(cause: Error) {
    const reason = 'code' in cause ? String(cause.code) : cause.name
    super(`Cannot write the secret to standard output (${reason}): this view is lost`)
  }
}

/** Writes to standard output, and returns when it has been taken: what follows may be irrevocable. */
export async function writeOut(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(new CannotWrite(error))
      else resolve()
    })
  })
}

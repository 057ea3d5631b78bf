/** Whether a client reads gzip, by its `Accept-Encoding`: `gzip;q=0` means that it does not. */
export function acceptsGzip(header: string | undefined): boolean {
  const accepted = new Map(
    (header ?? '').split(',').map((part) => {
      const [coding = '', ...parameters] = part.split(';').map((each) => each.trim().toLowerCase())
      const isRefused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
      return [coding, !isRefused]
    }),
  )
  return accepted.get('gzip') ?? accepted.get('*') ?? false
}

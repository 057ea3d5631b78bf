/** A signed request whose content Slack does not send. */
export type PayloadProblem =
  | 'malformed_body'
  | 'unknown_content_type'
  | 'unknown_payload'
  /** It could be read as two things, of which only one would be checked. */
  | 'ambiguous_payload'
  | 'missing_id'
  | 'bad_id'

/** Thrown while a payload is read, and caught where reading began. */
export class PayloadRefused extends Error {
  override readonly name = 'PayloadRefused'
  readonly problem: PayloadProblem

  constructor(problem: PayloadProblem) {
    super(`The payload is refused: ${problem}`)
    this.problem = problem
  }
}

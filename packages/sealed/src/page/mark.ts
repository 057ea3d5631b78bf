/** Strongroom's mark: a block with two slots that form an S. */
export const MARK =
  'M8 0h16a8 8 0 0 1 8 8H14a2 2 0 0 0 0 4h10a8 8 0 0 1 8 8v4a8 8 0 0 1-8 8H8a8 8 0 0 1-8-8h18a2 2 0 0 0 0-4H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z'

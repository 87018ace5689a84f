/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page as data: user/sink/page.h declares it, scripts/build-page makes it. */
	.section .rodata
	.global page_head, page_head_end, page_tail, page_tail_end, page_live, page_live_end
page_head:
	.incbin "head.html"
page_head_end:
page_tail:
	.incbin "tail.html"
page_tail_end:
page_live:
	.incbin "live.html.gz"
page_live_end:

	.section .note.GNU-stack, "", @progbits

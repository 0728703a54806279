; Kernels for CompiledTest.cpp, as a compiler writes them: llc turns this into PTX for several targets.
target triple = "nvptx64-nvidia-cuda"

@tileA = internal addrspace(3) global [16 x [17 x float]] undef, align 16
@tileB = internal addrspace(3) global [16 x [17 x float]] undef, align 16
@weights = internal addrspace(4) constant [4 x float] [float 1.0, float 2.0, float 4.0, float 8.0], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare <4 x float> @llvm.fma.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare float @llvm.sqrt.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare half @llvm.fma.f16(half, half, half)
declare i64 @llvm.ctpop.i64(i64)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.smax.i32(i32, i32)

; y = a·x + y, four at a time
define ptx_kernel void @saxpy(ptr addrspace(1) align 16 %x, ptr addrspace(1) align 16 %y, float %a, i32 %n) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %start = mul i32 %block, %size
  %i = add i32 %start, %tid
  %first = mul i32 %i, 4
  %in = icmp slt i32 %first, %n
  br i1 %in, label %work, label %end
work:
  %px = getelementptr float, ptr addrspace(1) %x, i32 %first
  %py = getelementptr float, ptr addrspace(1) %y, i32 %first
  %vx = load <4 x float>, ptr addrspace(1) %px, align 16
  %vy = load <4 x float>, ptr addrspace(1) %py, align 16
  %a0 = insertelement <4 x float> undef, float %a, i32 0
  %va = shufflevector <4 x float> %a0, <4 x float> undef, <4 x i32> zeroinitializer
  %r = call <4 x float> @llvm.fma.v4f32(<4 x float> %va, <4 x float> %vx, <4 x float> %vy)
  store <4 x float> %r, ptr addrspace(1) %py, align 16
  br label %end
end:
  ret void
}

; c[m, n] = a[m, k] · b[k, n] with 16 x 16 tiles in shared memory; any sizes
define ptx_kernel void @matmul(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c, i32 %m, i32 %n, i32 %k) {
entry:
  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %bx = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %by = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %bx16 = shl i32 %bx, 4
  %by16 = shl i32 %by, 4
  %col = add i32 %bx16, %tx
  %row = add i32 %by16, %ty
  %rowIn = icmp slt i32 %row, %m
  %colIn = icmp slt i32 %col, %n
  %sa = getelementptr [16 x [17 x float]], ptr addrspace(3) @tileA, i32 0, i32 %ty, i32 %tx
  %sb = getelementptr [16 x [17 x float]], ptr addrspace(3) @tileB, i32 0, i32 %ty, i32 %tx
  br label %tiles
tiles:
  %k0 = phi i32 [ 0, %entry ], [ %kNext, %next ]
  %sum = phi float [ 0.0, %entry ], [ %sumNext, %next ]
  %more = icmp slt i32 %k0, %k
  br i1 %more, label %loadA, label %store
loadA:
  %ka = add i32 %k0, %tx
  %kaIn = icmp slt i32 %ka, %k
  %aIn = and i1 %rowIn, %kaIn
  br i1 %aIn, label %readA, label %haveA
readA:
  %ra = mul i32 %row, %k
  %ia = add i32 %ra, %ka
  %pa = getelementptr float, ptr addrspace(1) %a, i32 %ia
  %va = load float, ptr addrspace(1) %pa
  br label %haveA
haveA:
  %fa = phi float [ 0.0, %loadA ], [ %va, %readA ]
  store float %fa, ptr addrspace(3) %sa
  %kb = add i32 %k0, %ty
  %kbIn = icmp slt i32 %kb, %k
  %bIn = and i1 %colIn, %kbIn
  br i1 %bIn, label %readB, label %haveB
readB:
  %rb = mul i32 %kb, %n
  %ib = add i32 %rb, %col
  %pb = getelementptr float, ptr addrspace(1) %b, i32 %ib
  %vb = load float, ptr addrspace(1) %pb
  br label %haveB
haveB:
  %fb = phi float [ 0.0, %haveA ], [ %vb, %readB ]
  store float %fb, ptr addrspace(3) %sb
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %inner
inner:
  %j = phi i32 [ 0, %haveB ], [ %jNext, %inner ]
  %acc = phi float [ %sum, %haveB ], [ %accNext, %inner ]
  %qa = getelementptr [16 x [17 x float]], ptr addrspace(3) @tileA, i32 0, i32 %ty, i32 %j
  %qb = getelementptr [16 x [17 x float]], ptr addrspace(3) @tileB, i32 0, i32 %j, i32 %tx
  %xa = load float, ptr addrspace(3) %qa
  %xb = load float, ptr addrspace(3) %qb
  %accNext = call float @llvm.fma.f32(float %xa, float %xb, float %acc)
  %jNext = add i32 %j, 1
  %done = icmp eq i32 %jNext, 16
  br i1 %done, label %next, label %inner
next:
  %sumNext = phi float [ %accNext, %inner ]
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %kNext = add i32 %k0, 16
  br label %tiles
store:
  %cIn = and i1 %rowIn, %colIn
  br i1 %cIn, label %write, label %end
write:
  %rc = mul i32 %row, %n
  %ic = add i32 %rc, %col
  %pc = getelementptr float, ptr addrspace(1) %c, i32 %ic
  store float %sum, ptr addrspace(1) %pc
  br label %end
end:
  ret void
}

; out += sum of x[0 … n), a warp at a time, with shuffles and one atomic per warp
define ptx_kernel void @sum(ptr %x, ptr %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %start = mul i32 %block, %size
  %i = add i32 %start, %tid
  %in = icmp slt i32 %i, %n
  br i1 %in, label %read, label %have
read:
  %p = getelementptr float, ptr %x, i32 %i
  %v = load float, ptr %p
  br label %have
have:
  %f = phi float [ 0.0, %entry ], [ %v, %read ]
  %s16 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %f, i32 16, i32 31)
  %f16 = fadd float %f, %s16
  %s8 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %f16, i32 8, i32 31)
  %f8 = fadd float %f16, %s8
  %s4 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %f8, i32 4, i32 31)
  %f4 = fadd float %f8, %s4
  %s2 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %f4, i32 2, i32 31)
  %f2 = fadd float %f4, %s2
  %s1 = call float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %f2, i32 1, i32 31)
  %f1 = fadd float %f2, %s1
  %lane = and i32 %tid, 31
  %leads = icmp eq i32 %lane, 0
  br i1 %leads, label %add, label %end
add:
  %old = atomicrmw fadd ptr %out, float %f1 monotonic
  br label %end
end:
  ret void
}

define internal float @polynomial(float %x, ptr %table) noinline {
  %p1 = getelementptr float, ptr %table, i32 1
  %c0 = load float, ptr %table
  %c1 = load float, ptr %p1
  %r = call float @llvm.fma.f32(float %x, float %c1, float %c0)
  ret float %r
}

; A table on the stack, a call, a jump table, halves, doubles, bit tricks: one of each per thread
define ptx_kernel void @mixed(ptr addrspace(1) %x, ptr addrspace(1) %out, ptr addrspace(1) %halves) {
entry:
  %table = alloca [4 x float], align 4
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr float, ptr addrspace(1) %x, i32 %tid
  %v = load float, ptr addrspace(1) %p
  store float %v, ptr %table
  %t1 = getelementptr float, ptr %table, i32 1
  store float 2.0, ptr %t1
  %poly = call float @polynomial(float %v, ptr %table)
  %way = and i32 %tid, 7
  switch i32 %way, label %other [ i32 0, label %zero
                                  i32 1, label %one
                                  i32 2, label %two
                                  i32 3, label %three
                                  i32 4, label %four ]
zero:
  %root = call float @llvm.sqrt.f32(float %v)
  br label %join
one:
  %d = fpext float %v to double
  %dd = fdiv double %d, 3.0
  %df = fptrunc double %dd to float
  br label %join
two:
  %whole = fptosi float %v to i32
  %back = sitofp i32 %whole to float
  br label %join
three:
  %most = call float @llvm.maxnum.f32(float %v, float 5.0)
  br label %join
four:
  %bits = bitcast float %v to i32
  %turned = call i32 @llvm.fshl.i32(i32 %bits, i32 %bits, i32 8)
  %wide = zext i32 %turned to i64
  %ones = call i64 @llvm.ctpop.i64(i64 %wide)
  %onesf = uitofp i64 %ones to float
  br label %join
other:
  %idx = and i32 %tid, 3
  %pw = getelementptr [4 x float], ptr addrspace(4) @weights, i32 0, i32 %idx
  %w = load float, ptr addrspace(4) %pw
  br label %join
join:
  %r = phi float [ %root, %zero ], [ %df, %one ], [ %back, %two ], [ %most, %three ], [ %onesf, %four ], [ %w, %other ]
  %total = fadd float %r, %poly
  %po = getelementptr float, ptr addrspace(1) %out, i32 %tid
  store float %total, ptr addrspace(1) %po
  %ph = getelementptr half, ptr addrspace(1) %halves, i32 %tid
  %h = load half, ptr addrspace(1) %ph
  %hf = call half @llvm.fma.f16(half %h, half %h, half 1.0)
  store half %hf, ptr addrspace(1) %ph
  ret void
}
